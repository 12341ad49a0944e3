MyType="Machine"
Machine="h1"
Name="slot1@h1"
State="Claimed"

MyType="Machine"
Machine="h1"
Name="slot2@h1"
State="Claimed"
Activity="Busy"

MyType="Machine"
Machine="h2"
Name="slot1@h2"

MyType="Machine"
Machine="h3"
Name="slot1@h3"
State="Claimed"
Activity="Odd"
Cpus=2

MyType="Machine"
Machine="h4"
Name="slot1@h4"
State="Claimed"
Activity="Idle"
Memory=2048

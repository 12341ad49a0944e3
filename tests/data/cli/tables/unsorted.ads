Name="b@h2"
Machine="h2"
MyType="Machine"
State="Owner"

Name="c@h3"
Machine="h3"
MyType="Machine"
State="Claimed"

Name="a@h1"
Machine="h1"
MyType="Machine"
State="Claimed"

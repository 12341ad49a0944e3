MyType="Machine"
Machine="h1"
Name="slot1@h1"
SlotType="Static"

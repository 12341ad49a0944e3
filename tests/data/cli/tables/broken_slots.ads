MyType = "Machine"
Name = "a"
SlotBrokenReason = "r"

MyType = "Machine"
Name = "b"
SlotBrokenReason = "a long reason"
SlotBrokenCode = 5

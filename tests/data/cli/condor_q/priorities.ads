LastUpdate = 7
Name1 = "ann@vm"
Priority1 = 502.161
Name2 = "bob@vm"
Priority2 = 900.5
Name3 = "eve@vm"
Priority3 = 501

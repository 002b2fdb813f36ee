module example.com/delegated-sign-in

go 1.24

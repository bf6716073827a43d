module referee

go 1.24

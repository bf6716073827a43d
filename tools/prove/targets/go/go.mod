module prove-go

go 1.26

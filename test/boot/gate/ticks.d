tick-1sec {}

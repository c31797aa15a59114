sdt:::thread_running {}
sdt:::no_such_event {}

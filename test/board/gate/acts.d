sdt:::thread_running /arg0 == 1/ {}
sdt:::thread_ready { trace(1); }

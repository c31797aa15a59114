fbt::ker_msg_send_pulse:return {}

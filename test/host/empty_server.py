# SPDX-License-Identifier: BSD-2-Clause
"""A server for kymo load that takes whatever it is sent and answers each statement with nothing, as
ClickHouse does where a table is empty. What is loaded, test/host/fleet/shards.py sees."""
import http.server
import threading


class Empty(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            while size := int(self.rfile.readline(), 16):
                self.rfile.read(size + 2)
            self.rfile.readline()
        else:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def address():
    """Starts it, for as long as this process lives; its address for kymo load."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Empty)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"clickhouse://127.0.0.1:{server.server_port}/db"

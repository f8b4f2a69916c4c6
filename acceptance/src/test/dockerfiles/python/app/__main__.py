import getpass
import http.server
import os

import greeter


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = greeter.greet(getpass.getuser()).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


http.server.ThreadingHTTPServer(("0.0.0.0", int(os.environ["PORT"])), Handler).serve_forever()

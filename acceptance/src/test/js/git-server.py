# Serves bare repositories over HTTP by git's own backend; those under private/ ask for a name and a password.
import base64, http.server, os, subprocess, sys

ROOT, LOGIN = sys.argv[1], sys.argv[2]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        self.answer(b'')

    def do_POST(self):
        self.answer(self.body())

    def body(self):
        if self.headers.get('Transfer-Encoding') != 'chunked':
            return self.rfile.read(int(self.headers.get('Content-Length', 0)))
        whole = b''
        while size := int(self.rfile.readline(), 16):
            whole += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return whole

    def answer(self, body):
        path, _, query = self.path.partition('?')
        wanted = 'Basic ' + base64.b64encode(LOGIN.encode()).decode()
        if path.startswith('/private/') and self.headers.get('Authorization') != wanted:
            return self.send(401, [('WWW-Authenticate', 'Basic realm="git"')], b'')
        environment = dict(os.environ, GIT_PROJECT_ROOT=ROOT, GIT_HTTP_EXPORT_ALL='1', PATH_INFO=path, QUERY_STRING=query,
                           REQUEST_METHOD=self.command, CONTENT_TYPE=self.headers.get('Content-Type', ''),
                           HTTP_CONTENT_ENCODING=self.headers.get('Content-Encoding', ''),
                           GIT_PROTOCOL=self.headers.get('Git-Protocol', ''), REMOTE_USER=LOGIN.split(':')[0])
        output = subprocess.run(['git', 'http-backend'], input=body, env=environment, stdout=subprocess.PIPE, check=True).stdout
        head, _, rest = output.partition(b'\r\n\r\n')
        headers = [tuple(line.split(': ', 1)) for line in head.decode().split('\r\n')]
        status = int(dict(headers).get('Status', '200').split()[0])
        self.send(status, [pair for pair in headers if pair[0] not in ('Status', 'Content-Length')], rest)

    def send(self, status, headers, body):
        self.send_response(status)
        for name, value in headers + [('Content-Length', str(len(body)))]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


http.server.ThreadingHTTPServer(('127.0.0.1', 8080), Handler).serve_forever()

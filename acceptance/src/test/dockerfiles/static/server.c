#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Answers every request with the id of the user it runs as. */
int main(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(7000)};
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(listener, (struct sockaddr *) &address, sizeof address) || listen(listener, 16)) {
		perror("server");
		return 1;
	}
	for (;;) {
		int client = accept(listener, NULL, NULL);
		char request[4096], body[64], answer[256];
		if (client < 0)
			continue;
		if (read(client, request, sizeof request) > 0) {
			snprintf(body, sizeof body, "static, as %d", (int) getuid());
			snprintf(answer, sizeof answer, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
				 strlen(body), body);
			(void) !write(client, answer, strlen(answer));
		}
		close(client);
	}
}

/* What the body of a SPAWN message says. */
#ifndef CAY_REQUEST_H
#define CAY_REQUEST_H

#include "link.h"
#include "spawn.h"

/* Marks the frame as bad when it makes no sense; whatever was taken until then must be freed all the same. */
void take_spawn_request(struct frame *frame, struct spawn_request *request, char **tag);

void free_spawn_request(struct spawn_request *request);

#endif

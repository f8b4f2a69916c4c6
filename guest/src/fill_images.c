/* Reads, in the images that CRIU wrote, which pages of a process are in which file at which place. */
#include "fill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_BYTES (256l << 20)
#define HEAD 8 /* two words that say what kind of image it is */

/* Fields of the messages, as CRIU numbers them. */
enum { HEAD_PAGES_FILE = 1 };
enum { ENTRY_ADDRESS = 1, ENTRY_COUNT = 2, ENTRY_IN_PARENT = 3, ENTRY_FLAGS = 4, ENTRY_LONG_COUNT = 5 };
enum { FLAG_PARENT = 1, FLAG_LAZY = 2, FLAG_PRESENT = 4 };
enum { MM_AREA = 14, AREA_START = 1, AREA_END = 2, AREA_ADVICE = 9 };
#define WIPE_ON_FORK 18

#define FIELDS 16

struct image {
    unsigned char *bytes;
    size_t length, at;
};

static struct image read_image(const char *kind, int number)
{
    char name[64];
    struct stat status;
    struct image image = {.at = HEAD};
    snprintf(name, sizeof name, "%s-%d.img", kind, number);
    int file = openat(shared->images, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0 || fstat(file, &status) || status.st_size < HEAD || status.st_size > MOST_BYTES)
        lose("%s cannot be read: %s", name, strerror(errno));
    image.length = (size_t)status.st_size;
    image.bytes = malloc(image.length);
    size_t got = 0;
    while (image.bytes && got < image.length) {
        ssize_t some = read(file, image.bytes + got, image.length - got);
        if (some <= 0)
            lose("%s cannot be read", name);
        got += (size_t)some;
    }
    if (!image.bytes)
        lose("no memory for %s", name);
    close(file);
    return image;
}

static uint64_t varint(struct image *message)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (message->at >= message->length)
            lose("an image ends in the middle of a number");
        unsigned char byte = message->bytes[message->at++];
        value |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128))
            return value;
    }
    lose("an image holds a number that is too long");
}

static struct image part(struct image *whole, uint64_t length)
{
    if (length > whole->length - whole->at)
        lose("an image is shorter than it says");
    struct image message = {.bytes = whole->bytes + whole->at, .length = (size_t)length};
    whole->at += (size_t)length;
    return message;
}

/* The next message of an image; 0 at its end. */
static int next_message(struct image *image, struct image *message)
{
    uint32_t length;
    if (image->at == image->length)
        return 0;
    struct image number = part(image, sizeof length);
    memcpy(&length, number.bytes, sizeof length);
    *message = part(image, length);
    return 1;
}

/* The next field: its number, and its value or its own message; 0 at the end. */
static uint64_t next_field(struct image *message, uint64_t *value, struct image *inner)
{
    if (message->at == message->length)
        return 0;
    uint64_t key = varint(message);
    memset(inner, 0, sizeof *inner);
    *value = 0;
    switch (key & 7) {
    case 0:
        *value = varint(message);
        break;
    case 1:
        part(message, 8);
        break;
    case 2:
        *inner = part(message, varint(message));
        break;
    case 5:
        part(message, 4);
        break;
    default:
        lose("an image holds a field of an unknown kind");
    }
    return key >> 3;
}

static void read_fields(struct image message, uint64_t *fields)
{
    uint64_t number, value;
    struct image inner;
    memset(fields, 0, FIELDS * sizeof *fields);
    while ((number = next_field(&message, &value, &inner)))
        if (number < FIELDS)
            fields[number] = value;
}

static int open_pages(uint64_t number)
{
    char name[64];
    struct stat status;
    snprintf(name, sizeof name, "pages-%lu.img", (unsigned long)number);
    int file = openat(shared->images, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0 || fstat(file, &status) || !S_ISREG(status.st_mode))
        lose("%s cannot be read: %s", name, strerror(errno));
    if (shared->file_count == MOST_FILES)
        lose("it has more than %d processes", MOST_FILES);
    shared->files[shared->file_count].descriptor = file;
    shared->files[shared->file_count].size = (uint64_t)status.st_size;
    return shared->file_count++;
}

/* Adds what an entry lists. Pages that are empty in children are ranges of their own. */
static void add_pages(struct task *task, const struct range *wiped, uint32_t wiped_count, uint64_t start, uint64_t end)
{
    uint64_t page = task->pages;
    while (start < end) {
        uint64_t to = end;
        int inside = 0;
        for (uint32_t i = 0; i < wiped_count; i++) {
            if (start >= wiped[i].start && start < wiped[i].end) {
                inside = 1;
                to = wiped[i].end < to ? wiped[i].end : to;
            } else if (wiped[i].start > start && wiped[i].start < to) {
                to = wiped[i].start;
            }
        }
        add_range(task, start, to, page, inside);
        page += (to - start) / shared->page;
        start = to;
    }
}

/* The areas of a process that are empty in its children. */
static uint32_t read_wiped(int origin, struct range *areas, uint32_t most)
{
    struct image image = read_image("mm", origin), message, inner;
    uint64_t number, value, fields[FIELDS];
    uint32_t count = 0;
    while (next_message(&image, &message)) {
        while ((number = next_field(&message, &value, &inner))) {
            if (number != MM_AREA || !inner.length)
                continue;
            read_fields(inner, fields);
            if ((fields[AREA_ADVICE] >> WIPE_ON_FORK & 1) && count < most)
                areas[count++] = (struct range){.start = fields[AREA_START], .end = fields[AREA_END]};
        }
    }
    free(image.bytes);
    return count;
}

static void read_entries(struct task *task, struct image *image, const struct range *wiped, uint32_t wiped_count)
{
    struct image message;
    uint64_t fields[FIELDS];
    while (next_message(image, &message)) {
        read_fields(message, fields);
        uint64_t count = fields[ENTRY_LONG_COUNT] ? fields[ENTRY_LONG_COUNT] : fields[ENTRY_COUNT];
        uint64_t start = fields[ENTRY_ADDRESS], flags = fields[ENTRY_FLAGS];
        if (fields[ENTRY_IN_PARENT] || (flags & FLAG_PARENT))
            lose("some of its pages are in another image");
        if (!(flags & FLAG_PRESENT))
            continue;
        if (start % shared->page || count > (UINT64_MAX - start) / shared->page)
            lose("an image names pages that cannot be");
        if (flags & FLAG_LAZY) {
            add_pages(task, wiped, wiped_count, start, start + count * shared->page);
            shared->report->pages += count;
        }
        task->pages += count;
    }
    if (task->pages * shared->page > shared->files[task->file].size)
        lose("the file of its pages is shorter than it was");
}

void read_images(struct task *task)
{
    struct range wiped[256];
    uint32_t wiped_count = read_wiped(task->origin, wiped, sizeof wiped / sizeof *wiped);
    struct image image = read_image("pagemap", task->origin), message;
    uint64_t fields[FIELDS];
    if (!next_message(&image, &message))
        lose("the list of its pages is empty");
    read_fields(message, fields);
    task->file = open_pages(fields[HEAD_PAGES_FILE]);
    read_entries(task, &image, wiped, wiped_count);
    free(image.bytes);
    uint64_t bytes = (task->pages + 63) / 64 * sizeof(uint64_t);
    task->in = take_list(bytes);
    memset(task->in, 0, bytes);
}

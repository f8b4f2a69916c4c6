/*
 * Gives OpenSSL fresh numbers from the kernel. A process that was saved and restored goes on with the state its cryptographic
 * generator had, and so do all its copies; OpenSSL would notice a fork, but not this, and Node has no call for it.
 * Loading this file is the call. It needs no library: the one symbol is in Node itself.
 *
 *   cc -shared -fPIC -Os -nostdlib -o reseed.node reseed.c
 */
extern int RAND_poll(void);

__attribute__((visibility("default"))) int node_api_module_get_api_version_v1(void) { return 8; }

__attribute__((visibility("default"))) void *napi_register_module_v1(void *env, void *exports)
{
    (void)env;
    RAND_poll();
    return exports;
}

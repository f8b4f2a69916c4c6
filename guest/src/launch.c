#include "cay.h"
int run_launch(int argc, char **argv) { (void)argc; (void)argv; refuse("later"); }
int run_hook(int argc, char **argv) { (void)argc; (void)argv; refuse("later"); }
int run_unplug(int argc, char **argv) { (void)argc; (void)argv; refuse("later"); }
int run_volume(int argc, char **argv) { (void)argc; (void)argv; refuse("later"); }

/// The description of the API: {@link dev.cay.server.api.ApiDocument} makes an OpenAPI document of the files in the
/// resource directory of the same name, which has one file for each area of the API. The files have a shorter notation
/// than OpenAPI; `areas.txt` there lists them and explains it. Routes know nothing of this package.
@NullMarked
package dev.cay.server.api;

import org.jspecify.annotations.NullMarked;

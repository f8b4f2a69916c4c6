package dev.cay.wire.rest;

/// Where to send the files of a step, and whether they are there already.
public record FileUpload(boolean present, String url) {}

package dev.cay.wire.rest;

/// The address for sending the files of a step, and whether the server has them already.
public record FileUpload(boolean present, String url) {}

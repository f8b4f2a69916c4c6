package dev.cay.server.access;

/// Who owns sandboxes and templates.
///
/// @param slug the namespace of its templates' names
public record Team(String id, String name, String slug) {}

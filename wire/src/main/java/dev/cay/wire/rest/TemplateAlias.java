package dev.cay.wire.rest;

import com.fasterxml.jackson.annotation.JsonProperty;

/// What a template's name stands for.
public record TemplateAlias(
        String templateID, @JsonProperty("public") boolean isPublic) {}

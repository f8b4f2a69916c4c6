package dev.cay.wire.rest;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.cay.wire.TemplateId;

/// The template that a name means.
public record TemplateAlias(
        TemplateId templateID, @JsonProperty("public") boolean isPublic) {}

package dev.cay.wire.rest;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.cay.wire.TemplateId;

/// What a template's name stands for.
public record TemplateAlias(
        TemplateId templateID, @JsonProperty("public") boolean isPublic) {}

package dev.cay.wire.rest;

/// A team as its members see it.
public record TeamInfo(String teamID, String name, String apiKey, boolean isDefault) {}

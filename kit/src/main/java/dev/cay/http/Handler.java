package dev.cay.http;

/// Answers an exchange, or throws: what it throws becomes the answer, or cuts the connection if one has begun.
public interface Handler {
    void handle(Exchange exchange) throws Exception;
}

package dev.cay.http;

/// Answers an exchange, or throws: the exception becomes the answer, or cuts the connection if an answer has begun.
public interface Handler {
    void handle(Exchange exchange) throws Exception;
}

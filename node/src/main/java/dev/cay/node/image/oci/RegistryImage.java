package dev.cay.node.image.oci;

import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One image on a registry and its mirrors, which are asked in order. If one does not have or refuses something, the
/// next is asked. Thread-safe.
final class RegistryImage implements Manifests.Parts {
    private static final Logger log = LoggerFactory.getLogger(RegistryImage.class);
    private static final long PAUSE_MILLIS = 200;
    private static final int MOST_TRIES = 4;

    private final ImageReference reference;
    private final List<Registry> places;
    private final DocumentCache documents;

    /// @param places the mirrors, and last the registry itself
    RegistryImage(ImageReference reference, List<Registry> places, DocumentCache documents) {
        this.reference = reference;
        this.places = List.copyOf(places);
        this.documents = documents;
    }

    /// The manifest or index that the reference names. Always requested, because a registry decides who may have an
    /// image.
    Registry.Document root() throws IOException {
        var document = ask(place -> place.manifest(reference.wanted()));
        if (reference.digest() != null && !Digest.of(document.bytes()).equals(reference.digest())) {
            throw BadImage.because(
                    "the registry sent a manifest whose bytes do not have the digest %s".formatted(reference.digest()));
        }
        return document;
    }

    @Override
    public byte[] manifest(Blob blob) throws IOException {
        return documents.get(
                blob,
                () -> ask(place ->
                        checked(blob, place.manifest(blob.digest().toString()).bytes())));
    }

    @Override
    public byte[] config(Blob blob) throws IOException {
        return documents.get(
                blob,
                () -> ask(place -> {
                    try (var answer = place.blob(blob.digest(), 0)) {
                        return checked(blob, answer.read((int) blob.size(), "a configuration"));
                    }
                }));
    }

    private static byte[] checked(Blob blob, byte[] bytes) {
        if (bytes.length != blob.size() || !Digest.of(bytes).equals(blob.digest())) {
            throw BadImage.because(
                    "the registry sent %,d bytes that do not have the digest %s and the size %,d, which the manifest names"
                            .formatted(bytes.length, blob.digest(), blob.size()));
        }
        return bytes;
    }

    /// Bytes of a layer. The caller tries again after an `IOException`.
    HttpAnswer layer(Blob blob, long from) throws IOException {
        return askOnce(place -> place.blob(blob.digest(), from));
    }

    private interface Question<T> {
        T ask(Registry place) throws IOException;
    }

    private <T> T ask(Question<T> question) throws IOException {
        for (int tries = 1; ; tries++) {
            try {
                return askOnce(question);
            } catch (IOException e) {
                if (tries == MOST_TRIES || Thread.currentThread().isInterrupted()) {
                    throw new CayException(
                            ErrorKind.UNAVAILABLE,
                            "the registry %s cannot be reached for image %s: %s"
                                    .formatted(places.getLast().host(), reference, reason(e)),
                            e);
                }
                pause(tries);
            }
        }
    }

    private static void pause(int tries) throws IOException {
        try {
            TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS << tries);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    private <T> T askOnce(Question<T> question) throws IOException {
        for (var place : places.subList(0, places.size() - 1)) {
            try {
                return question.ask(place);
            } catch (IOException | CayException e) {
                log.atInfo()
                        .addKeyValue("mirror", place.host())
                        .addKeyValue("reason", reason(e))
                        .log("a registry mirror failed; trying the next one");
            }
        }
        return question.ask(places.getLast());
    }

    private static String reason(Exception e) {
        return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    }
}

package dev.cay.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.Fast;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The comparison of answers with their description finds what differs.
@Fast
final class DescribedApiTest {
    private static final DescribedApi API = new DescribedApi("""
            {
              "paths": {
                "/things/{id}": {
                  "get": {
                    "responses": {
                      "200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
                      "204": {"description": "nothing"},
                      "default": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}
                    }
                  },
                  "post": {
                    "requestBody": {
                      "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}
                    },
                    "responses": {"204": {"description": "nothing"}}
                  }
                },
                "/things/special": {"get": {"responses": {"202": {"description": "nothing"}}}}
              },
              "components": {
                "schemas": {
                  "Thing": {
                    "type": "object",
                    "properties": {
                      "name": {"type": "string"},
                      "size": {"type": ["integer", "null"], "minimum": 1, "maximum": 9},
                      "made": {"type": "string", "format": "date-time"},
                      "kind": {"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}]},
                      "parts": {"type": "array", "maxItems": 2, "items": {"$ref": "#/components/schemas/Thing"}},
                      "tags": {"type": "object", "additionalProperties": {"type": "string"}}
                    },
                    "required": ["name"]
                  },
                  "Error": {"type": "object", "properties": {"code": {"type": "integer"}}, "required": ["code"]}
                }
              }
            }
            """);

    private static String problem(String method, String path, String body, int status, String type, String answer) {
        return String.join("\n", API.problems(new DescribedApi.Call(method, path, body, status, type, answer)));
    }

    private static String got(String answer) {
        return problem("GET", "/things/1?x=y", "", 200, "application/json; charset=utf-8", answer);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\'', textBlock = """
            {}                                       | GET /things/{id}, 200: / has no "name"
            {"name":1}                               | /name must be "string", not 1
            {"name":"n","size":"1"}                  | /size must be ["integer","null"], not "1"
            {"name":"n","size":0}                    | /size must be at least 1, not 0
            {"name":"n","size":10}                   | /size must be at most 9, not 10
            {"name":"n","made":"today"}              | /made must be a "date-time", not "today"
            {"name":"n","kind":"c"}                  | /kind/ must be one of ["a","b"], not "c"
            {"name":"n","parts":[{"name":"m"},{}]}   | /parts/1 has no "name"
            {"name":"n","parts":[1,2,3]}             | /parts has more than 2 items
            {"name":"n","tags":{"t":1}}              | /tags/t must be "string", not 1
            {"name":"n","new":true}                  | /new is not described
            []                                       | / must be "object", not []
            {"name":                                 | the answer is no JSON
            """)
    void whatIsWrongIsNamedWithItsPlace(String answer, String wanted) {
        assertThat(got(answer)).contains(wanted);
    }

    @Test
    void whatIsRightIsNoProblem() {
        assertThat(got("""
                {"name": "n", "size": null, "made": "2026-01-02T03:04:05Z", "kind": null, "parts": [{"name": "m"}],
                 "tags": {"a": "b"}}""")).isEmpty();
        assertThat(problem("GET", "/nowhere", "", 200, "text/plain", "x")).isEmpty();
    }

    @Test
    void statusesTypesAndEmptyAnswersAreDescribed() {
        assertThat(problem("GET", "/things/1", "", 404, "application/json", "{}"))
                .contains("the status is not described");
        assertThat(problem("GET", "/things/1", "", 503, "application/json", "{}"))
                .contains("has no \"code\"");
        assertThat(problem("GET", "/things/1", "", 200, "text/plain", "x"))
                .contains("must be of [application/json], not text/plain");
        assertThat(problem("GET", "/things/1", "", 204, "", "x")).contains("the answer must be empty");
        assertThat(problem("GET", "/things/special", "", 202, "", ""))
                .as("a part without a parameter wins")
                .isEmpty();
    }

    /// The server ignores fields that it does not know, and null.
    @Test
    void acceptedRequestsAreDescribedToo() {
        assertThat(problem("POST", "/things/1", "{\"name\":1}", 204, "", "")).contains("the body /name must be");
        assertThat(problem("POST", "/things/1", "{\"name\":\"n\",\"kind\":null,\"new\":1}", 204, "", ""))
                .isEmpty();
        assertThat(problem("POST", "/things/1", "{\"name\":1}", 400, "", "")).doesNotContain("the body");
    }
}

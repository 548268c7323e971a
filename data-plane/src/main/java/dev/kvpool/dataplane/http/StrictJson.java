// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.json.JsonMapper;

/** JSON of others in which no field stands twice, and nothing behind its end. */
public final class StrictJson {
    private static final ObjectReader READER = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build()
            .reader();

    private StrictJson() {}

    public static JsonNode read(String text) throws JsonProcessingException {
        return READER.readTree(text);
    }

    /**
     * The body of a request.
     *
     * @param form what is to be sent instead
     * @throws IllegalArgumentException with cause and remedy when it is none
     */
    public static JsonNode body(String text, String form) {
        try {
            return read(text);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("the body is no JSON, " + e.getOriginalMessage() + ": " + form, e);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin.mooncake;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.json.JsonMapper;

/** The body with which a quota is asked for. */
final class QuotaRequest {
    static final int BODY_BYTES_MAX = 4 << 10;

    private static final String FIELD = "requested_quota_bytes";
    private static final String FORM = "send {\"" + FIELD + "\": BYTES}, of 1 byte or more";
    private static final ObjectReader JSON = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build()
            .reader();

    private QuotaRequest() {}

    /** The bytes; throws IllegalArgumentException with cause and remedy when it is none. */
    static long parse(String body) {
        JsonNode root;
        try {
            root = JSON.readTree(body);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("the body is no JSON, " + e.getOriginalMessage() + ": " + FORM, e);
        }
        JsonNode bytes = root.path(FIELD);
        if (root.size() != 1 || !bytes.isIntegralNumber() || !bytes.canConvertToLong() || bytes.longValue() < 1) {
            throw new IllegalArgumentException("the body asks for no quota: " + FORM);
        }
        return bytes.longValue();
    }
}

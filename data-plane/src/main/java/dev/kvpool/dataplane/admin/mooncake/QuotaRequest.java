// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin.mooncake;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kvpool.dataplane.http.StrictJson;

/** The body with which a quota is asked for. */
final class QuotaRequest {
    static final int BODY_BYTES_MAX = 4 << 10;

    private static final String FIELD = "requested_quota_bytes";
    private static final String FORM = "send {\"" + FIELD + "\": BYTES}, of 1 byte or more";

    private QuotaRequest() {}

    /** The bytes; throws IllegalArgumentException with cause and remedy when it is none. */
    static long parse(String body) {
        JsonNode root = StrictJson.body(body, FORM);
        JsonNode bytes = root.path(FIELD);
        if (root.size() != 1 || !bytes.isIntegralNumber() || !bytes.canConvertToLong() || bytes.longValue() < 1) {
            throw new IllegalArgumentException("the body asks for no quota: " + FORM);
        }
        return bytes.longValue();
    }
}

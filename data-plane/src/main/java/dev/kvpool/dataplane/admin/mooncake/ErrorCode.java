// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin.mooncake;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.dataplane.admin.Answers;
import dev.kvpool.dataplane.admin.MasterAdmin;
import dev.kvpool.dataplane.http.Request;
import dev.kvpool.dataplane.http.Response;
import java.util.function.Function;

/** Errors by the numbers of Mooncake, each with the HTTP status that it has there. The sentence with cause and remedy is ours. */
enum ErrorCode {
    SEGMENT_NOT_FOUND(-101, 404),
    INVALID_PARAMS(-600, 400),
    UNAVAILABLE_IN_CURRENT_STATUS(-1010, 409),
    /** Of a master that does not serve; Mooncake answers 503 there, and 409 with the same number where a feature is off. */
    SERVICE_NOT_ACTIVE(-1011, 503),
    UNAVAILABLE_IN_CURRENT_MODE(-1011, 409),
    JOB_NOT_FOUND(-1402, 404),
    TENANT_NOT_REGISTERED(-1701, 404);

    private static final ObjectMapper JSON = new ObjectMapper();

    private final int number;
    private final int httpStatus;

    ErrorCode(int number, int httpStatus) {
        this.number = number;
        this.httpStatus = httpStatus;
    }

    /** The answer that says so. */
    Response answer(String causeAndRemedy) {
        return Response.json(
                httpStatus,
                JSON.createObjectNode()
                        .put("success", false)
                        .put("error_code", number)
                        .put("error_message", name() + ": " + causeAndRemedy)
                        .toString());
    }

    /** A route of JSON that the leader alone answers. */
    static Function<Request, Response> ofLeader(MasterAdmin master, Function<Request, Response> route) {
        return inJson(request -> master.isLeader() ? route.apply(request) : notServing(master));
    }

    /** The answer of a master that does not serve. */
    static Response notServing(MasterAdmin master) {
        return SERVICE_NOT_ACTIVE.answer(Answers.whyNotLeader(master) + "; ask that one");
    }

    /** A route of JSON: also what is wrong with a request is said in JSON. */
    static Function<Request, Response> inJson(Function<Request, Response> route) {
        return request -> {
            try {
                return route.apply(request);
            } catch (IllegalArgumentException e) {
                return INVALID_PARAMS.answer(e.getMessage());
            }
        };
    }
}

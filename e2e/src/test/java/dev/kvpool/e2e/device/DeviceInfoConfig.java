// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.device;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Map;

/** What Ascend's plugin writes into its ConfigMap. */
record DeviceInfoConfig(
        @JsonProperty("DeviceInfo") DeviceInfo info,
        @JsonProperty("CheckCode") String checkCode) {

    /** Devices and their health. */
    record DeviceInfo(
            @JsonProperty("DeviceList") Map<String, String> devices,
            @JsonProperty("UpdateTime") long seconds) {}
}

// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

/** Names every kvpool resource shares. */
public final class ApiGroup {
    public static final String GROUP = "kvpool.dev";
    public static final String VERSION = "v1alpha1";
    public static final String API_VERSION = GROUP + "/" + VERSION;

    private ApiGroup() {}
}

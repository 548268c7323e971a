// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.failure;

/** Something the user can do something about: the message names the cause and how to fix it. */
public final class PluginException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public PluginException(String message) {
        super(message);
    }
}

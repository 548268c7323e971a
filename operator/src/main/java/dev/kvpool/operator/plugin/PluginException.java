// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin;

/** Something the user can do something about: the message names the cause and the way out. */
final class PluginException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    PluginException(String message) {
        super(message);
    }
}

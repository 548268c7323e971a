// SPDX-License-Identifier: Apache-2.0
/** How answers look: tables, and JSON or YAML for programs. It knows nothing else of the plugin. */
package dev.kvpool.operator.plugin.output;

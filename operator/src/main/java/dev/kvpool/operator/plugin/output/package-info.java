// SPDX-License-Identifier: Apache-2.0
/** How answers look: tables and words. It knows nothing else of the plugin. */
package dev.kvpool.operator.plugin.output;

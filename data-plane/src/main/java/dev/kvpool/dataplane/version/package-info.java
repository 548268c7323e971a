// SPDX-License-Identifier: Apache-2.0
/** Which versions of the product, wire, segment layout and library this build has. */
package dev.kvpool.dataplane.version;

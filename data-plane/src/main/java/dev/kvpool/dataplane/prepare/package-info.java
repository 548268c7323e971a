// SPDX-License-Identifier: Apache-2.0
/** {@code kvpool prepare}: starts each role once when an image is made, so that a start-up cache holds what these load. */
package dev.kvpool.dataplane.prepare;

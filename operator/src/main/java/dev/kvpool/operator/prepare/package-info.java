// SPDX-License-Identifier: Apache-2.0
/** A run of the program while its image is built, so that it starts sooner. */
package dev.kvpool.operator.prepare;

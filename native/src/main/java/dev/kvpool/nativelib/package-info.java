// SPDX-License-Identifier: Apache-2.0
/**
 * libkvpool as Java objects: storage node, agent and client, their parameters, status codes and statistics. Only {@code jna} knows how
 * functions are called; the memory of each struct is laid out here and checked against the library when it is loaded.
 */
package dev.kvpool.nativelib;

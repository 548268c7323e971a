// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

/**
 * Where a process answers admin HTTP.
 *
 * @param host address to listen on; {@code ::} for all addresses of both families
 * @param plain port for HTTP; 0 for any free one
 * @param secure port for HTTPS, used where TLS is on; 0 for any free one
 */
public record AdminPorts(String host, int plain, int secure) {}

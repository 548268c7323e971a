// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.http;

import io.fabric8.kubernetes.client.jdkhttp.JdkHttpClientFactory;
import io.fabric8.kubernetes.client.jdkhttp.JdkHttpClientImpl;
import java.net.Authenticator;
import java.net.CookieHandler;
import java.net.InetAddress;
import java.net.ProxySelector;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;

/**
 * Java's HTTP clients, which end when they are closed. Fabric8's closing leaves them their thread that waits for sockets, and a process
 * ends 0.3 s later while a thread waits outside of Java.
 */
public final class EndingHttpClients extends JdkHttpClientFactory {
    private final Queue<HttpClient> made = new ConcurrentLinkedQueue<>();

    @Override
    protected HttpClient.Builder createNewHttpClientBuilder() {
        return new Noting(super.createNewHttpClientBuilder());
    }

    @Override
    protected void closeHttpClient(JdkHttpClientImpl client) {
        made.forEach(HttpClient::shutdownNow);
        super.closeHttpClient(client);
    }

    /** Notes the client that it makes. */
    private final class Noting implements HttpClient.Builder {
        private final HttpClient.Builder builder;

        private Noting(HttpClient.Builder builder) {
            this.builder = builder;
        }

        @Override
        public HttpClient build() {
            HttpClient client = builder.build();
            made.add(client);
            return client;
        }

        @Override
        public HttpClient.Builder cookieHandler(CookieHandler cookies) {
            builder.cookieHandler(cookies);
            return this;
        }

        @Override
        public HttpClient.Builder connectTimeout(Duration timeout) {
            builder.connectTimeout(timeout);
            return this;
        }

        @Override
        public HttpClient.Builder sslContext(SSLContext tls) {
            builder.sslContext(tls);
            return this;
        }

        @Override
        public HttpClient.Builder sslParameters(SSLParameters tls) {
            builder.sslParameters(tls);
            return this;
        }

        @Override
        public HttpClient.Builder executor(Executor executor) {
            builder.executor(executor);
            return this;
        }

        @Override
        public HttpClient.Builder followRedirects(HttpClient.Redirect policy) {
            builder.followRedirects(policy);
            return this;
        }

        @Override
        public HttpClient.Builder version(HttpClient.Version version) {
            builder.version(version);
            return this;
        }

        @Override
        public HttpClient.Builder priority(int priority) {
            builder.priority(priority);
            return this;
        }

        @Override
        public HttpClient.Builder proxy(ProxySelector proxy) {
            builder.proxy(proxy);
            return this;
        }

        @Override
        public HttpClient.Builder authenticator(Authenticator authenticator) {
            builder.authenticator(authenticator);
            return this;
        }

        @Override
        public HttpClient.Builder localAddress(InetAddress address) {
            builder.localAddress(address);
            return this;
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.version;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/** The version of the product, written into a resource by the build. */
public final class ProductVersion {
    private static final String RESOURCE = "version.properties";

    private static final String TEXT = read();

    private ProductVersion() {}

    /** Semantic version such as {@code 0.1.0}. */
    public static String text() {
        return TEXT;
    }

    private static String read() {
        try (InputStream resource = ProductVersion.class.getResourceAsStream(RESOURCE)) {
            if (resource == null) {
                throw new IllegalStateException(RESOURCE + " is missing from the kvpool jar");
            }
            Properties properties = new Properties();
            properties.load(resource);
            return properties.getProperty("product");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

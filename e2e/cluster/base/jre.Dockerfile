# SPDX-License-Identifier: Apache-2.0
#
# Java, where eclipse-temurin:25-jre has it, and the libraries that it and libkvpool use; no shell.
FROM scratch
ADD rootfs.tar /
COPY java /opt/java/openjdk
ENV JAVA_HOME=/opt/java/openjdk \
    PATH=/opt/java/openjdk/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    LANG=C.UTF-8
CMD ["java", "--version"]

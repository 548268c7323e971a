# SPDX-License-Identifier: Apache-2.0
#
# Stands in for eclipse-temurin:25-jre: Java lies at the same place.
FROM scratch
ADD rootfs.tar /
COPY java /opt/java/openjdk
ENV JAVA_HOME=/opt/java/openjdk \
    PATH=/opt/java/openjdk/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    LANG=C.UTF-8
CMD ["java", "--version"]

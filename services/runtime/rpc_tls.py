"""TLS of gRPC: one certificate for all services, which is renewed while they run."""

from dataclasses import dataclass
from pathlib import Path

import grpc

# As in a Kubernetes secret of type kubernetes.io/tls, to which cert-manager adds the authority.
CERTIFICATE, KEY, AUTHORITY = "tls.crt", "tls.key", "ca.crt"


@dataclass(frozen=True, slots=True)
class Certificates:
    """A folder with a certificate, its key, and the authority that signed it.

    Attributes:
        folder: The folder, with the files `tls.crt`, `tls.key` and `ca.crt` in PEM.
    """

    folder: Path

    def missing(self) -> list[str]:
        """Names of the files that are not there."""
        return [name for name in (CERTIFICATE, KEY, AUTHORITY) if not (self.folder / name).is_file()]

    def server(self) -> grpc.ServerCredentials:
        """Credentials of a server, which reads the files again for every connection.

        Callers need no certificate: that of a client in Python cannot be renewed while it runs.

        Raises:
            OSError: A file cannot be read.
        """
        return grpc.dynamic_ssl_server_credentials(self._configuration(), self._configuration)

    def client(self) -> grpc.ChannelCredentials:
        """Credentials of a client, which trusts the authority alone.

        Raises:
            OSError: A file cannot be read.
        """
        return grpc.ssl_channel_credentials(self._read(AUTHORITY))

    def _configuration(self) -> grpc.ServerCertificateConfiguration:
        pair = (self._read(KEY), self._read(CERTIFICATE))
        return grpc.ssl_server_certificate_configuration([pair])

    def _read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

"""Tests with hostile requests, which are sent as raw bytes."""

import socket
from urllib.parse import urlsplit

import pytest

from bagwise.viewer.security import is_local_host, is_own_origin


def send_request(address, path="/api/runs", method="GET", version="1.1", **headers):
    """Send a raw request, not normalised by a client library; return status, headers and body of the response."""
    port = urlsplit(address).port
    lines = {"Host": f"127.0.0.1:{port}", "Connection": "close"} | headers
    text = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value is not None)
    with socket.create_connection(("127.0.0.1", port), timeout=240) as stream:
        stream.sendall(f"{method} {path} HTTP/{version}\r\n{text}\r\n".encode("latin-1"))
        response = b""
        while chunk := stream.recv(65536):
            response += chunk
    head, _, body = response.partition(b"\r\n\r\n")
    return int(head.split()[1]), head.decode("latin-1").lower(), body


def test_request_from_this_machine_is_accepted(address):
    port = urlsplit(address).port
    assert send_request(address)[0] == 200
    assert send_request(address, Host=f"localhost:{port}")[0] == 200
    assert send_request(address, Host="localhost:9999")[0] == 200  # through an SSH tunnel
    assert send_request(address, Origin=f"http://127.0.0.1:{port}")[0] == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:80",
        "127.0.0.1.evil.example",
        "localhost@evil.example",
        "localhost.",
        "127.1",
        "",
        None,
    ],
)
def test_request_with_a_foreign_host_is_rejected(address, host):
    status, _, body = send_request(address, Host=host, version="1.0" if host is None else "1.1")
    assert status in (400, 403)
    assert b"attention" not in body


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://localhost", "file://"]
)
def test_request_with_a_foreign_origin_is_rejected(address, origin):
    status, _, body = send_request(address, Origin=origin)
    assert status == 403
    assert b"attention" not in body


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"])
def test_request_with_another_method_is_rejected(address, method):
    assert send_request(address, method=method)[0] in (400, 405)


@pytest.mark.parametrize(
    "path",
    [
        "/static/../routes.py",
        "/static/%2e%2e/routes.py",
        "/static/..%2froutes.py",
        "/static/%2e%2e%2f%2e%2e%2f%2e%2e%2fpyproject.toml",
        "/static//etc/passwd",
        "/static/%00",
        "/static/index.html%00.js",
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/static/..\\routes.py",
        "/static/%c0%ae%c0%ae/routes.py",
        "/api/runs/../../static/../routes.py",
        "/api/runs/0/bags/..%2f..%2f0",
        "/api/runs/0/bags/0/tiles/7/0/..%2f0",
        "//evil.example/",
    ],
)
def test_path_traversal_is_rejected(address, path):
    status, _, body = send_request(address, path)
    assert status in (400, 404, 405)
    assert b"import" not in body
    assert b"root:" not in body


def test_static_files_do_not_follow_links_out_of_the_folder(client, tmp_path):
    from starlette.staticfiles import StaticFiles

    (tmp_path / "static").mkdir()
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "static" / "link").symlink_to(tmp_path / "secret")
    assert StaticFiles(directory=tmp_path / "static").lookup_path("link")[1] is None


@pytest.mark.parametrize("path", ["/", "/static/app.js", "/api/runs", "/nowhere", "/api/runs/0/bags/0/export/csv"])
def test_responses_have_security_headers(address, path):
    head = send_request(address, path)[1]
    assert "content-security-policy: default-src 'self'; " in head
    assert "unsafe-inline" not in head
    assert "unsafe-eval" not in head
    assert "frame-ancestors 'none'" in head
    assert "x-content-type-options: nosniff" in head
    assert "cross-origin-resource-policy: same-origin" in head
    assert "referrer-policy: no-referrer" in head
    assert "access-control-allow-origin" not in head
    assert "\r\nserver:" not in head


def test_rejections_have_security_headers(address):
    for response in (send_request(address, Host="evil.example"), send_request(address, method="POST")):
        assert "content-security-policy" in response[1]


def test_page_has_no_inline_script_or_style(client):
    page = client.get("/").text
    assert "<style" not in page
    assert " style=" not in page
    assert " onclick=" not in page
    assert page.count("<script") == page.count('<script src="/static/')
    assert "//" not in page.replace("<!doctype", "")


def test_is_local_host_and_is_own_origin_match_whole_names():
    assert not is_local_host("localhost/evil.example")
    assert not is_local_host("localhost#@evil.example")
    assert not is_local_host("[::1")
    assert not is_local_host("localhost:port:80")
    assert is_local_host("LOCALHOST:80")
    assert not is_own_origin("http://localhost:80.evil.example", "localhost:80")

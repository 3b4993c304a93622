"""What schemathesis cannot guess: half of all requests name things that exist, and no request lowers the quota that the next ones need."""

import json
import os
import random
import urllib.request

import schemathesis

URL, TOKEN = os.environ["FORESITE_URL"], os.environ["FORESITE_TOKEN"]
ENOUGH = 1_000_000
dice = random.Random(1)


def ask(method, path, body=None, **headers):
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", **headers}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(URL + path, data, headers, method=method)) as answer:
        return json.load(answer)


def known():
    """One of each, found or made."""
    newest = lambda path: ask("GET", path)["items"][0]
    site = newest("/v1/sites")["id"]
    hook = ask("POST", "/v1/webhooks", {"url": "https://example.org/", "events": ["study.failed"]})["webhook"]["id"]
    upload = ask("POST", f"/v1/sites/{site}/uploads?name=x", **{"Upload-Length": "1000000"})
    return {
        "site": site,
        "config": newest(f"/v1/sites/{site}/configs")["id"],
        "trace": newest(f"/v1/sites/{site}/traces")["id"],
        "upload": upload["id"],
        "study": newest("/v1/studies")["id"],
        "scenario": "baseline",
        "replication": "0",
        "name": "wait-by-user-1",
        "webhook": hook,
        "delivery": ask("POST", f"/v1/webhooks/{hook}/test")["id"],
        "token": ask("POST", "/v1/tokens", {"name": "known", "role": "viewer"})["token"]["id"],
    }


KNOWN = known()
schemathesis.serializer.alias("application/offset+octet-stream", "application/octet-stream")
offset = 0


@schemathesis.hook
def before_call(context, case, **kwargs):
    # What is deleted is not there for the others.
    if case.method != "DELETE" and case.path_parameters and dice.random() < 0.5:
        case.path_parameters = {name: KNOWN.get(name, value) for name, value in case.path_parameters.items()}
    if case.method == "PATCH" and case.meta and case.meta.generation.mode.is_positive and dice.random() < 0.5:
        case.headers["Upload-Offset"] = str(offset)
        case.headers["Content-Type"] = "application/offset+octet-stream"
    if case.path == "/v1/quotas" and isinstance(case.body, dict):
        for field, limit in case.body.items():
            if isinstance(limit, int) and not isinstance(limit, bool) and 0 < limit < ENOUGH or limit == 0 and field != "requests_per_minute":
                case.body[field] = ENOUGH


@schemathesis.hook
def after_call(context, case, response):
    """The next piece of the known upload begins where this one ended."""
    global offset
    if case.method == "PATCH" and response.status_code == 204:
        offset = int(response.headers["upload-offset"][0])

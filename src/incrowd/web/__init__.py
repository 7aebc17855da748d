"""The web app and its REST API. It calls the library and holds no maths.

`incrowd.web.app.create_app` builds it; `incrowd serve` runs it.
"""

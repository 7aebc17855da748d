"""The web app: the same questions for people who do not type. It calls the library and holds no maths.

`incrowd.web.app.create_app` makes it; `incrowd serve` runs it.
"""

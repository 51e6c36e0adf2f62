"""When a crawl ends, and how much it can still be expected to find.

figures                the figures that the rules check, counted page by page
rules                  the rules of paper AR and the budget; each states its reason
forecast               relevant pages among the next fetches, and in reach, each with a 90 % interval
forecast_calibration   how far predicted scores can be trusted
forecaster             the latest forecast of a running crawl
outlook                forecast and calibration as text and as JSON
"""
